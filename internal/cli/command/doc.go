// Package command is what all commands share: the streams they use, how they end, and how they print a result for people and for
// programs. It holds no command itself, and nothing that only one of them needs.
package command
