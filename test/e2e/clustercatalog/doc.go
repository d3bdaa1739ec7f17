// Package clustercatalog proves what ClusterCatalogs do on a cluster: from an image in a registry to the answers over HTTP that
// status.urls.base leads to. The registry is on loopback, and every test has its own.
package clustercatalog
