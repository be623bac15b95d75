"""The administration writes days and moments as nearly as Django can as all other pages do (`gradebook.moments`): no riddles, 24 hours, the offset."""

DATE_FORMAT = SHORT_DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = r"D j M Y, H:i \U\T\CO"
