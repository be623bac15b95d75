"""How a body may say that it is JSON, and how not: the same lists for the gate and for the doors Django serves."""

JSON = [
    "application/json",
    "Application/JSON; charset=UTF-8",
    'application/json;charset="utf-8"',
    "application/json ; charset=utf8",
]
NOT_JSON = [
    "",
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/json-seq",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/json; charset=latin-1",
    "application/json; charset=nonsense",
    'application/json; charset="utf-8',
    "application/json; version=2",
    "application/json; charset=utf-8; version=2",
    "application/json; charset=utf-8; charset=latin-1",
    "application/json, text/plain",
]
