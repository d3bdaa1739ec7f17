// Package subscription holds the scenarios of Subscriptions on the embedded cluster: each script in testdata is one, in a namespace of its
// own, with catalogs that it publishes itself and one manager for all. test/e2e/README.md says which scenario is where.
//
// Start reading at TestScenarios; the commands of the scripts are in commands_test.go and publish_test.go.
package subscription
