// Package messages writes text for people: of errors in statuses and events, and of tables. A text is bounded, whatever a registry, a
// catalog or another author put into it, and the same for the same error. It decides nothing. Start reading at Error.
package messages
