// Package migrate holds the tests of moving an installed operator from a Subscription to a ClusterExtension and back, with the command that
// users give. Start reading at there_test.go.
package migrate
