// Package console serves the web console: what catalogs offer, what is installed, why, and what a change would do, for the browser of a user and with
// the rights of that user.
//
// It decides nothing. A page is a value of internal/ops or internal/ops/preview and a template; the same value is the answer of the same path below /api
// as JSON. A write is a function of internal/ops, called after the checks of guard.go.
//
//	console.go    New, and the handler: who is let in, then the page, the stream or the asset
//	guard.go      what is refused before anything is read: other hosts' names, writes that come from other sites; the headers of every answer
//	sessions.go   who is there: bounded, in memory alone, with the token that every write has to carry
//	access.go     how a user gets a session: OneTime by the printed address of a kubeconfig's console
//	clusteraccess.go how users of a cluster get one, and programs get in without: a token, or a login at an OpenID Connect provider (oidc.go, sealer.go, entrypages.go)
//	credential.go the token of such a user, in memory alone; attempts.go bounds how often one may try
//	letin.go      the session of a request, and how it begins and ends
//	user.go       the connection to the cluster that a session has, and what its user may do
//	kinds.go      the resources of kinds, which all users of a cluster have in common
//	page.go       templates, and what they are given besides the value of a page
//	live.go       the stream that tells a browser that something has changed
//	cachechanges.go the same from the caches of a manager, for many users
//	reading.go    values that take longer to be read than a page may, kept for a while
//	shelf.go      what catalogs offer, and with whose rights and credentials they are read
//	storefront.go the catalog, packages, and their installation: order.go is what a form asks for, planned.go what would come of it, icon.go pictures,
//	              markdown.go descriptions, configfield.go the fields of a configuration
//	jobs.go       what takes longer than a page may to be done
//	tally.go      how many changes wait, which every page says
//	reads.go      which images may be read that a user names
//	bounds.go     lists and values as pages show them: bounded
//	*page.go      the pages, one file each
//
// Start reading at New, then at a page. It may use internal/ops, internal/ops/preview, internal/kubeconfig and the API types, and nothing that decides.
package console
