"""How many processes an exam needs: pure functions from measured rates to counts. `manage.py plan_capacity` prints what they say."""
