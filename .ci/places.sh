# The end-to-end tests that run as root and in each place without namespaces. The launchers notice where they are, so these
# run every kind of step, look at owners, kill a runner and adopt its containers. The rest is the same program everywhere.
# Read by other scripts, in the root of the checkout.
in_each_place=(test/e2e/{examples,found-home,exit-codes,crash,axes,cancel,inputs,output}.test.ts)
