// Package registryclient asks servers of catalogs (api/registry), ours and others', and turns what they say about a whole catalog into
// objects of one.
//
// What a server says is content from outside: the size and number of its messages are bounded. The package never judges a catalog and
// keeps nothing. Start reading at Dial and Client.Catalog.
package registryclient
