// Package configmapcatalog reads catalogs that are the content of ConfigMaps: file-based catalogs, a file for each key, and the older form
// with lists of manifests under the keys packages, clusterServiceVersions and customResourceDefinitions.
//
// It knows the content alone, never a cluster, and judges no catalog. Start reading at Read.
package configmapcatalog
