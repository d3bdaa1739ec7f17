package signature

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/tlog"

	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
)

// Media types and annotations of the layers under signature and attestation
// tags.
const (
	mediaSimpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json"
	mediaEnvelope      = "application/vnd.dsse.envelope.v1+json"

	annotationSignature   = "dev.cosignproject.cosign/signature"
	annotationCertificate = "dev.sigstore.cosign/certificate"
	annotationChain       = "dev.sigstore.cosign/chain"
	annotationLog         = "dev.sigstore.cosign/bundle"
	annotationTimestamp   = "dev.sigstore.cosign/rfc3161timestamp"
)

// payloadType is the only kind of payload that is a signature of an image.
const payloadType = "cosign container image signature"

// payload is a document that names an image, in the format "simple signing".
type payload struct {
	raw []byte
	// digest and reference are the image that it names.
	digest, reference string
}

// parsePayload reads a payload strictly: what cannot be understood may restrict
// what the signature means.
func parsePayload(data []byte) (*payload, error) {
	var document struct {
		Critical *struct {
			Identity *struct {
				Reference *string `json:"docker-reference"`
			} `json:"identity"`
			Image *struct {
				Digest *string `json:"docker-manifest-digest"`
			} `json:"image"`
			Type *string `json:"type"`
		} `json:"critical"`
		Optional map[string]any `json:"optional"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&document); err != nil {
		return nil, fmt.Errorf("its payload cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("its payload cannot be read: there is more after the document")
	}
	c := document.Critical
	switch {
	case c == nil || c.Identity == nil || c.Identity.Reference == nil || c.Image == nil || c.Image.Digest == nil || c.Type == nil:
		return nil, errors.New("its payload does not name an image; it lacks critical.identity, critical.image or critical.type")
	case *c.Type != payloadType:
		return nil, fmt.Errorf("its payload has type %q instead of %q", *c.Type, payloadType)
	}
	return &payload{raw: data, digest: *c.Image.Digest, reference: *c.Identity.Reference}, nil
}

// parseSignature reads a layer of a signature tag.
func parseSignature(data []byte, annotations map[string]string) (*candidate, error) {
	p, err := parsePayload(data)
	if err != nil {
		return nil, err
	}
	made, err := base64.StdEncoding.DecodeString(annotations[annotationSignature])
	if err != nil || len(made) == 0 {
		return nil, fmt.Errorf("it has no signature in base64 in annotation %s", annotationSignature)
	}
	sum := sha256.Sum256(data)
	e, err := parseTagged(annotations)
	if err != nil {
		return nil, err
	}
	e.content = bundle.NewMessageSignature(sum[:], "SHA2_256", made)
	return &candidate{layout: layoutSignature, entity: e, certificate: e.certificate, chain: e.chain, payload: p}, nil
}

// parseAttestation reads a layer of an attestation tag.
func parseAttestation(data []byte, annotations map[string]string) (*candidate, error) {
	var envelope dsse.Envelope
	if err := json.Unmarshal(data, &envelope); err != nil {
		return nil, fmt.Errorf("its envelope cannot be read: %w", err)
	}
	e, err := parseTagged(annotations)
	if err != nil {
		return nil, err
	}
	e.content = &bundle.Envelope{Envelope: &envelope}
	return &candidate{layout: layoutAttestation, entity: e, certificate: e.certificate, chain: e.chain}, nil
}

// parseTagged reads what tags keep about a signature in annotations.
func parseTagged(annotations map[string]string) (*taggedEntity, error) {
	e := &taggedEntity{}
	if text := annotations[annotationCertificate]; text != "" {
		certificates, err := parseCertificates([]byte(text))
		if err != nil || len(certificates) != 1 {
			return nil, fmt.Errorf("annotation %s holds no single certificate in PEM", annotationCertificate)
		}
		e.certificate = certificates[0]
	}
	if text := annotations[annotationChain]; text != "" {
		chain, err := parseCertificates([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", annotationChain, err)
		}
		// Leave out roots: those are trusted by the policy or not at all.
		var all []*x509.Certificate
		for _, c := range chain {
			if c.IsCA && c.CheckSignatureFrom(c) != nil {
				all = append(all, c)
			}
		}
		e.chain = all
	}
	if text := annotations[annotationLog]; text != "" {
		entry, err := parseLogEntry([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", annotationLog, err)
		}
		e.entries = []*tlog.Entry{entry}
	}
	if text := annotations[annotationTimestamp]; text != "" {
		var stamp struct {
			SignedRFC3161Timestamp []byte
		}
		if err := json.Unmarshal([]byte(text), &stamp); err != nil {
			return nil, fmt.Errorf("annotation %s: %w", annotationTimestamp, err)
		}
		e.timestamps = [][]byte{stamp.SignedRFC3161Timestamp}
	}
	return e, nil
}

// parseLogEntry reads the promise of a transparency log to include an entry.
func parseLogEntry(data []byte) (entry *tlog.Entry, err error) {
	defer func() { // the parsers of entries belong to others
		if p := recover(); p != nil {
			entry, err = nil, fmt.Errorf("it cannot be evaluated: %v", p)
		}
	}()
	var document struct {
		SignedEntryTimestamp []byte
		Payload              struct {
			Body           []byte `json:"body"`
			IntegratedTime int64  `json:"integratedTime"`
			LogIndex       int64  `json:"logIndex"`
			LogID          string `json:"logID"`
		}
	}
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	id, err := hex.DecodeString(document.Payload.LogID)
	if err != nil {
		return nil, fmt.Errorf("logID is not hexadecimal: %w", err)
	}
	var body struct {
		Kind    string `json:"kind"`
		Version string `json:"apiVersion"`
	}
	if err := json.Unmarshal(document.Payload.Body, &body); err != nil {
		return nil, fmt.Errorf("the body of the entry cannot be read: %w", err)
	}
	return tlog.ParseTransparencyLogEntry(&protorekor.TransparencyLogEntry{
		LogIndex:          document.Payload.LogIndex,
		LogId:             &protocommon.LogId{KeyId: id},
		KindVersion:       &protorekor.KindVersion{Kind: body.Kind, Version: body.Version},
		IntegratedTime:    document.Payload.IntegratedTime,
		InclusionPromise:  &protorekor.InclusionPromise{SignedEntryTimestamp: document.SignedEntryTimestamp},
		CanonicalizedBody: document.Payload.Body,
	})
}
