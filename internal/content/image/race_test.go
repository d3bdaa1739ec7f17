//go:build race

package image

const raceEnabled = true
