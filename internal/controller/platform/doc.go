// Package platform tells an OpenShift cluster whether it may be upgraded to its next minor version with the operators that are installed: in the
// condition Upgradeable of the ClusterOperator olm. On clusters without the kinds ClusterVersion and ClusterOperator of config.openshift.io it
// watches nothing of them and does nothing; it begins when their CustomResourceDefinitions appear.
//
// It writes that one condition and nothing else. The judgement is internal/platform. Start reading at controller.go, then setup.go and
// condition.go.
//
// In every manager, whether it leads or not, SetupTLS (tlssetup.go) follows spec.tlsSecurityProfile of the APIServer of config.openshift.io: it sets the
// profile that the servers and clients of the manager share, and writes nothing.
package platform
