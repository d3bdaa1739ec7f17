// Package template makes catalogs out of templates: short files that name
// bundle images and say how they hang together.
//
// There are three types. A basic template is a catalog whose bundles are only
// named by their images. A semver template lists images, and their versions
// decide about channels and upgrades. A substitutes template is a catalog with
// bundles that take the places of others. Render fills them in, and Convert
// makes a template of a catalog.
//
// The package never pulls an image: it is given a Source of bundles. It does
// not judge what it makes; catalog.Validate does, with the places in the
// template. Start reading at Render.
package template
