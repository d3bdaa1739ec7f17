// Package origin is where served catalogs come from: directories and images. It reads them into indexes that a cache keeps, so that a
// server starts again without reading them.
//
// It serves nothing and judges no catalog beyond whether it could be read at all. Start reading at Open and Origins.Catalog.
package origin
