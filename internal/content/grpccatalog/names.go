package grpccatalog

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// suffixLength is the length of what the API server would append to a generateName, and baseLength what it leaves of that.
	suffixLength = 5
	baseLength   = validation.DNS1123LabelMaxLength - suffixLength
	// suffixAlphabet holds no vowels, so that no words come about.
	suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"
	// hashLength makes names unique that had to be changed.
	hashLength = 8
	// serverPolicy ends the name of the NetworkPolicy for a catalog's pod, and unpackPolicy that for pods that unpack bundles.
	serverPolicy = "-grpc-server"
	unpackPolicy = "-unpack-bundles"
	// letterPrefix begins names that have to begin with a letter and would not.
	letterPrefix = "catalog-"
)

// LabelValue is the value of the labels that name a catalog: its name, shortened where that is too long for a label.
func LabelValue(catalog string) string { return shorten(catalog, "", validation.LabelValueMaxLength) }

// ServiceName is the name of a catalog's Service: the name of the catalog, with hyphens in place of dots, shortened and prefixed
// where a Service may not be called so.
func ServiceName(catalog string) string {
	name := strings.ReplaceAll(catalog, ".", "-")
	if name != "" && (name[0] < 'a' || name[0] > 'z') {
		name = letterPrefix + name
	}
	if len(name) <= validation.DNS1035LabelMaxLength {
		return name
	}
	return cut(name, validation.DNS1035LabelMaxLength-hashLength-1) + "-" + hashOf(catalog)
}

// podName is what the API server would make of a generateName, but follows from what makes the pod different from all others: a
// create that is repeated, or made by two managers at once, makes one pod.
func podName(generateName string, different ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(different, "\x00")))
	number, base := new(big.Int).SetBytes(sum[:]), big.NewInt(int64(len(suffixAlphabet)))
	suffix, digit := make([]byte, suffixLength), new(big.Int)
	for i := range suffix {
		number.DivMod(number, base, digit)
		suffix[i] = suffixAlphabet[digit.Int64()]
	}
	return generateName[:min(len(generateName), baseLength)] + string(suffix)
}

// objectName is the name of an object of a catalog that is not its Service.
func objectName(catalog, suffix string) string {
	return shorten(catalog, suffix, validation.DNS1123SubdomainMaxLength)
}

// shorten appends a suffix, and puts a hash in place of the end of a name that would be too long with it.
func shorten(name, suffix string, limit int) string {
	if len(name)+len(suffix) <= limit {
		return name + suffix
	}
	return cut(name, limit-len(suffix)-hashLength-1) + "-" + hashOf(name) + suffix
}

// cut leaves the beginning of a name that may be followed by a hyphen.
func cut(name string, length int) string {
	return strings.TrimRight(name[:min(len(name), length)], "-.")
}

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])[:hashLength]
}
