"""A gradebook as plain as Django makes it; `with_…` add a `Mark` that one library watches."""
