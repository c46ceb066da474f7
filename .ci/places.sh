# The end-to-end tests of what differs between places: the launchers notice where they are, so these run every kind of step,
# look at owners, and cancel containers. They run as root and in a container without namespaces, as root and as an ordinary
# user. All others are the same program everywhere. Read by other scripts, in the root of the checkout.
in_each_place=(test/e2e/{examples,found-home,crash,cancel,inputs,output}.test.ts)
# A killed runner's containers are adopted in each place; the ordinary user's tests try more moments.
export SLUICE_CRASH_KILLS=1
# The numbers that are shown of the examples' runs are the same in each place, and that user's tests compare them.
export SLUICE_EXAMPLE_NUMBERS=false
