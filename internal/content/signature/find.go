package signature

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sigstore/sigstore-go/pkg/bundle"

	"fairlead.dev/fairlead/internal/content/image"
)

// mediaBundle is the type of sigstore bundles, and of the artifacts that hold
// them.
const mediaBundle = "application/vnd.dev.sigstore.bundle.v0.3+json"

// Bounds of what is tried for one image at one endpoint.
const (
	maxCandidates = 32      // in each layout
	maxSignature  = 2 << 20 // bytes
)

var errTooMany = fmt.Errorf("there are more than %d signatures; the others were not read", maxCandidates)

// finder reads the signatures of one image at one endpoint.
type finder struct {
	from   *image.Artifacts
	digest string
	// tried counts the signatures that were read.
	tried int
	// visit gets each signature, or why one cannot be read, and returns true
	// when no more are needed.
	visit func(*candidate, error) bool
}

// find visits signatures, or attestations, in the layout of tags first: where
// they satisfy, no referrers are listed. The error is of type image.Error and
// says that the endpoint could not be read.
func (f *finder) find(attestations bool) (done bool, err error) {
	done, err = f.tagged(attestations)
	if done || unreadable(err) != nil {
		return done, err
	}
	// Visit the bundles that refer to the image.
	referrers, err := f.from.Referrers(f.digest, mediaBundle)
	if err != nil {
		return false, unreadable(err)
	}
	for i, referrer := range referrers {
		if i == maxCandidates {
			return f.visit(nil, errTooMany), nil
		}
		done, err := f.referrer(referrer)
		if done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// unreadable returns the errors that end the search at an endpoint: a missing
// tag is none of them.
func unreadable(err error) error {
	if image.KindOf(err) == image.NotFound {
		return nil
	}
	return err
}

// tagged visits what a signature or attestation tag holds.
func (f *finder) tagged(attestations bool) (bool, error) {
	suffix, media, parse := ".sig", mediaSimpleSigning, parseSignature
	if attestations {
		suffix, media, parse = ".att", mediaEnvelope, parseAttestation
	}
	m, err := f.from.Manifest(tagOf(f.digest) + suffix)
	if err != nil {
		return false, unreadable(err)
	}
	n := 0
	for _, layer := range m.Layers {
		if layer.MediaType != media {
			continue
		}
		if n++; n > maxCandidates {
			return f.visit(nil, errTooMany), nil
		}
		c, err := f.read(layer, parse)
		if unreadableBlob(err) {
			return false, err
		}
		if f.give(c, err) {
			return true, nil
		}
	}
	return false, nil
}

func (f *finder) referrer(referrer image.Descriptor) (bool, error) {
	m, err := f.from.Manifest(referrer.Digest)
	if err != nil {
		if unreadableBlob(err) {
			return false, err
		}
		return f.give(nil, err), nil
	}
	for _, layer := range m.Layers {
		if layer.MediaType != mediaBundle {
			continue
		}
		c, err := f.read(layer, parseBundle)
		if err == nil && c.message {
			var of *image.Manifest // the signature of the image itself is of its manifest
			if of, err = f.from.Manifest(f.digest); err == nil {
				c.manifest = of.Raw
			}
		}
		if unreadableBlob(err) {
			return false, err
		}
		return f.give(c, err), nil // an artifact holds one bundle
	}
	return f.give(nil, fmt.Errorf("the artifact %s holds no bundle", referrer.Digest)), nil
}

// read reads and parses one signature.
func (f *finder) read(layer image.Descriptor, parse func([]byte, map[string]string) (*candidate, error)) (*candidate, error) {
	if layer.Size > maxSignature {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that a signature may have", layer.Size, maxSignature)
	}
	data, err := f.from.Blob(layer)
	if err != nil {
		return nil, err
	}
	return parse(data, layer.Annotations)
}

// unreadableBlob reports whether an endpoint failed, rather than a signature.
func unreadableBlob(err error) bool {
	switch image.KindOf(err) {
	case "", image.NotFound, image.InvalidImage, image.DigestMismatch:
		return false
	}
	return true
}

func (f *finder) give(c *candidate, err error) bool {
	f.tried++
	if err != nil {
		c = nil
	}
	if c != nil {
		c.host = f.from.Host
	}
	return f.visit(c, err)
}

// parseBundle reads a sigstore bundle. The annotations are hints for people.
func parseBundle(data []byte, _ map[string]string) (c *candidate, err error) {
	defer func() { // the parsers of entries belong to others
		if p := recover(); p != nil {
			c, err = nil, fmt.Errorf("its bundle cannot be evaluated: %v", p)
		}
	}()
	var b bundle.Bundle
	if err := b.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("its bundle cannot be read: %w", steadyProto(err))
	}
	content, err := b.VerificationContent()
	if err != nil {
		return nil, fmt.Errorf("its bundle cannot be read: %w", err)
	}
	return &candidate{layout: layoutBundle, entity: &b, certificate: content.Certificate(), message: b.GetMessageSignature() != nil}, nil
}

// steadyProto takes out the spaces that protobuf varies in its errors from one
// build to the next, so that the same bundle gives the same message.
func steadyProto(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "\u00a0", " "))
}
