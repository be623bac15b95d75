#!/bin/sh
# Run once by the postgres image on an empty data folder: the same two roles the embedded server has, with passwords.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    --set owner_password="$OWNER_PASSWORD" --set app_password="$APP_PASSWORD" <<'SQL'
CREATE ROLE handover_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE handover_app LOGIN PASSWORD :'app_password';
CREATE DATABASE handover OWNER handover_owner;
SQL
