package serving

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"
)

// Merge lists the authorities of several lists that are still valid at the time now, each once and at most so many: what comes first counts
// first. What is no certificate is left out.
func Merge(now time.Time, atMost int, lists ...[]byte) []byte {
	var all [][]byte
	for _, list := range lists {
		for block, rest := pem.Decode(list); block != nil; block, rest = pem.Decode(rest) {
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil || !now.Before(c.NotAfter) || len(all) == atMost {
				continue
			}
			if text := encode(c); !slices.ContainsFunc(all, func(known []byte) bool { return bytes.Equal(known, text) }) {
				all = append(all, text)
			}
		}
	}
	return slices.Concat(all...)
}

// Sort brings a list of certificates into an order that depends on nothing but what is in it.
func Sort(list []byte) []byte {
	var all [][]byte
	for block, rest := pem.Decode(list); block != nil; block, rest = pem.Decode(rest) {
		all = append(all, pem.EncodeToMemory(block))
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.Concat(all...)
}
