// Package clustercatalogs shows the ClusterCatalogs of a cluster, with the content that is published of each, as decisions about
// ClusterExtensions need them. The controller of ClusterCatalogs publishes into a catalogset.Set of its own, under Ref; whoever decides
// calls List, and hears of new content by the OnChange of that set. Of changed labels, priorities and availability modes the watch of the
// kind tells.
//
// A catalog whose registry is down takes part with its last good content; one whose availabilityMode is Unavailable does not. The package
// never loads or fetches anything, and writes nothing. Start reading at List.
package clustercatalogs
