// Package operatorgroup proves on the embedded cluster how operators share it: which namespaces they watch, who may provide which API
// where, who gets access, and what the users of a namespace see. It holds tests only. Each test has namespaces of its own and makes by
// hand what an InstallPlan would make; test/e2e/README.md says which scenario is where.
//
// Start reading at world (main_test.go).
package operatorgroup
