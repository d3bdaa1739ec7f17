// Package gates judges what a ClusterExtension would be changed to: whether its namespace is there, whether the operator can be upgraded now,
// whether CustomResourceDefinitions or custom resources would be lost, what its service account lacks, and what it would be allowed in
// addition. Its controller asks before it writes anything, and fairlead plan asks to tell beforehand: both get the same answer in the same
// words.
//
// The package reads through the readers of a Judge, and writes nothing. It decides neither which bundle is wanted nor what comes of an answer:
// a Stop is for a person to end, all other errors may pass by themselves.
//
// Start reading at gates.go, where a Step says what is judged. Then, in the order in which the controller asks:
//
//	around.go       the namespace, and the operator's own word
//	definitions.go  upgrades of CustomResourceDefinitions, and steps back
//	dropped.go      CustomResourceDefinitions that would go, with their custom resources
//	account.go      what the service account lacks
//	increase.go     what is asked for in addition to what is installed
package gates
