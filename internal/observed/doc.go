// Package observed translates the Kubernetes objects of a namespace, as they were seen, into what internal/plan decides on. It is what
// the Subscription controller and the commands that decide offline have in common: the controller observes a cluster, a command reads
// the same objects from files.
//
// It decides nothing, writes nothing and knows no client. Start reading at Namespace.
package observed
