package migrate

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// HelmLabels are on the Secrets with the releases of an extension that the other implementation of the v1 API has installed by way of Helm.
func HelmLabels(extension string) map[string]string {
	return map[string]string{"owner": "operator-controller", "name": extension}
}

// Limits of releases: a user who may write Secrets in the namespace of the manager could write anything.
const (
	maxChunks       = 11
	maxRelease      = maxChunks << 20 // bytes that are stored
	maxReleaseText  = 64 << 20        // bytes when it is decompressed
	maxReleaseParts = 1000            // objects
)

// Keys of the data of such Secrets: a release is in pieces, the first of which is in the Secret that lists the others; or in one Secret, as
// Helm itself writes it.
const (
	helmPiece  = "chunk"
	helmPieces = "extraChunks"
	helmWhole  = "release"
)

const helmDeployed = "deployed"

// HelmRelease is one of Helm's.
type HelmRelease struct {
	Namespace string `json:"namespace"`
	Version   int    `json:"version"`
	Info      struct {
		Status string `json:"status"`
	} `json:"info"`
	Manifest string `json:"manifest"`
	Chart    struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	} `json:"chart"`
	// Secret is the one that it is in, or that lists where it is.
	Secret *corev1.Secret `json:"-"`
}

// Note is what the Secret of a release says of its bundle, by the key that revisions have it under.
func (r *HelmRelease) Note(key string) string {
	if value := r.Secret.Annotations[key]; value != "" {
		return value
	}
	return r.Secret.Labels[key]
}

// Deployed is the newest release that is deployed; nil when there is none.
func Deployed(secrets []corev1.Secret) (*HelmRelease, error) {
	byName := map[string]*corev1.Secret{}
	for i := range secrets {
		byName[secrets[i].Name] = &secrets[i]
	}
	var newest *HelmRelease
	for i := range secrets {
		s := &secrets[i]
		_, lists := s.Data[helmPieces] // as the first piece of a release does, unlike the others
		if s.Labels["status"] != helmDeployed || len(s.Data[helmWhole]) == 0 && !lists && s.Labels["type"] != "index" {
			continue
		}
		r, err := readRelease(s, byName)
		if err != nil {
			return nil, fmt.Errorf("read the release in Secret %s/%s: %w", s.Namespace, s.Name, err)
		}
		if r.Info.Status == helmDeployed && (newest == nil || r.Version > newest.Version) {
			newest = r
		}
	}
	return newest, nil
}

func readRelease(s *corev1.Secret, byName map[string]*corev1.Secret) (*HelmRelease, error) {
	data, err := collect(s, byName)
	if err != nil {
		return nil, err
	}
	text, err := inflate(data)
	if err != nil {
		return nil, err
	}
	r := &HelmRelease{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	r.Secret = s
	return r, nil
}

// collect puts the pieces of a release together.
func collect(s *corev1.Secret, byName map[string]*corev1.Secret) ([]byte, error) {
	if whole := s.Data[helmWhole]; len(whole) > 0 {
		return whole, nil
	}
	var more []string
	if text := s.Data[helmPieces]; len(text) > 0 {
		if err := json.Unmarshal(text, &more); err != nil {
			return nil, fmt.Errorf("key %s does not list the Secrets with the rest: %w", helmPieces, err)
		}
	}
	if len(more) >= maxChunks {
		return nil, fmt.Errorf("it is in %d Secrets, and %d are the most", len(more)+1, maxChunks)
	}
	data := slices.Clone(s.Data[helmPiece])
	for _, name := range more {
		next := byName[name]
		if next == nil {
			return nil, fmt.Errorf("there is no Secret %s, which has a part of it", name)
		}
		if data = append(data, next.Data[helmPiece]...); len(data) > maxRelease {
			return nil, fmt.Errorf("it has more than %d bytes", maxRelease)
		}
	}
	return data, nil
}

// inflate decompresses a release within limits. Helm itself encodes what it has compressed once more.
func inflate(data []byte) ([]byte, error) {
	gzipped := []byte{0x1f, 0x8b}
	if !bytes.HasPrefix(data, gzipped) {
		decoded, err := base64.StdEncoding.AppendDecode(nil, data)
		if err != nil || !bytes.HasPrefix(decoded, gzipped) {
			return nil, errors.New("it is not compressed as releases are")
		}
		data = decoded
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decompress it: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxReleaseText+1))
	if err != nil {
		return nil, fmt.Errorf("decompress it: %w", err)
	}
	if len(text) > maxReleaseText {
		return nil, fmt.Errorf("it has more than %d bytes when it is decompressed", maxReleaseText)
	}
	return text, nil
}

// Objects are those of the manifest, which has one on each line.
func (r *HelmRelease) Objects() ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for line := range strings.Lines(r.Manifest) {
		line = strings.TrimSpace(line)
		if line == "" || line == "---" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(out) == maxReleaseParts {
			return nil, fmt.Errorf("read the manifest of release %d: it has more than %d objects", r.Version, maxReleaseParts)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(line)); err != nil {
			return nil, fmt.Errorf("read object %d in the manifest of release %d: %w", len(out)+1, r.Version, err)
		}
		out = append(out, u)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read the manifest of release %d: it has no object", r.Version)
	}
	return out, nil
}
