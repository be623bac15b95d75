"""The processes of this machine: started, told apart, kept alive and stopped, also those that a kill left behind."""
