"""One page that works offline: what a profile says, with charts, a timeline and a table of sites."""
