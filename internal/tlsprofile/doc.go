// Package tlsprofile says which versions, cipher suites and key exchanges the servers of the manager speak over TLS, by the names that
// administrators of clusters know. It talks to nobody; start reading at Choice.
package tlsprofile
