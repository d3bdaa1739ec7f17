// Package trouble puts errors into the words that statuses and other controllers get: the same for the same trouble, and short, however much
// a registry or a catalog says. It decides nothing. Start reading at Text.
package trouble
