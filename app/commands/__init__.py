"""The commands of `desk`, by what they are for: parse, call a flow, print."""
