"""How the web server speaks: its worker processes, the express lane of submissions, answers in one packet, sockets between processes."""
