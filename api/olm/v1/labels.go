package v1

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// maxLabelValue is how many characters the value of a label can have.
	maxLabelValue = 63
	// labelHash is how many characters of a hash tell shortened names apart.
	labelHash = 16
)

// LabelValue is a name as the value of a label, by which what belongs to its bearer is found: names of objects may have 253 characters, and
// those that are too long for a label are cut and get a hash.
func LabelValue(name string) string {
	if len(name) <= maxLabelValue {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:maxLabelValue-labelHash-1], "-.") + "-" + hex.EncodeToString(sum[:])[:labelHash]
}
