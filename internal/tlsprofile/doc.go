// Package tlsprofile says which versions, cipher suites and key exchanges the servers of the manager speak over TLS, by the names that
// administrators of clusters know. It has no client: a Source holds the profile in force,
// which internal/controller/apiserver sets to that of the cluster. Start reading at Choice, then Source.
package tlsprofile
