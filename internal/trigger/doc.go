// Package trigger says when controllers look at something: at an event, a little later, or again. Its handlers map events to requests with a
// short delay, in which further events of the same request are swallowed. They are for objects that come in bursts, such as the
// CustomResourceDefinitions of an operator and the steps by which the API server establishes them: looking once after the burst costs a
// fraction of looking at every event.
//
// The package decides nothing about what is looked at, and writes nothing. Start reading at After (trigger.go). Then:
//
//	news.go       requests that no event leads to
//	overtaken.go  failed writes that an event follows, by which their object is looked at again anyway
//	secret.go     changes of one Secret, without its content
//	options.go    how soon requests that failed are repeated
//	sooner.go     the earlier one of two times to look again
package trigger
