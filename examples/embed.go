// Package examples holds two small operators as bundles and as catalogs, for the demo and for tests.
//
// It is data: the programs themselves are in operators/, and nothing here is changed at run time. Image references point
// to a registry that does not exist; who publishes the bundles rewrites them. Start reading at README.md.
package examples

import "embed"

// Bundles has the bundle directories, bundles/<package>/<version>/{manifests,metadata}.
//
//go:embed bundles
var Bundles embed.FS

// Catalogs has two file-based catalogs of these bundles: catalog-v1, and catalog, which came later and has upgrades for
// what is installed from catalog-v1.
//
//go:embed catalog catalog-v1
var Catalogs embed.FS
