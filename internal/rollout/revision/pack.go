package revision

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// maxSecretData is how much a Secret holds: what is stored may have 1 MiB, names and labels included.
const maxSecretData = 900 << 10

// secretHash is how many characters of a hash the names of Secrets end with.
const secretHash = 16

// bin is the data of a Secret.
type bin struct {
	data map[string][]byte
	size int
}

// pack puts objects into Secrets in their order, so that a phase is in few of them.
func (o *Options) pack(revision string, groups []group, adopted map[identity]bool) ([]olmv1.ClusterObjectSetPhase, []*corev1.Secret, error) {
	var bins []*bin
	place := map[string]*bin{} // by key
	phases := make([]olmv1.ClusterObjectSetPhase, len(groups))
	for i, g := range groups {
		phases[i].Name = g.name
		for _, u := range g.objects {
			data, err := encode(u)
			if err != nil {
				return nil, nil, err
			}
			key := keyOf(data)
			if place[key] == nil {
				if len(bins) == 0 || bins[len(bins)-1].size+len(data) > maxSecretData {
					bins = append(bins, &bin{data: map[string][]byte{}})
				}
				b := bins[len(bins)-1]
				b.data[key] = data
				b.size += len(data)
				place[key] = b
			}
			object := olmv1.ClusterObjectSetObject{Ref: &olmv1.ObjectSourceRef{Namespace: o.SystemNamespace, Key: key}}
			if adopted[identityOf(u)] {
				object.CollisionProtection = olmv1.CollisionProtectionIfNoController
			}
			phases[i].Objects = append(phases[i].Objects, object)
		}
	}
	names := map[*bin]string{}
	secrets := make([]*corev1.Secret, len(bins))
	for i, b := range bins {
		sum := sha256.New() // a Secret is named after its content
		for _, key := range slices.Sorted(maps.Keys(b.data)) {
			sum.Write([]byte(key))
			sum.Write(b.data[key])
		}
		labels := o.ownerLabels()
		labels[olmv1.RevisionNameKey] = olmv1.LabelValue(revision)
		names[b] = revision + "-" + hex.EncodeToString(sum.Sum(nil))[:secretHash]
		secrets[i] = &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: o.SystemNamespace, Name: names[b], Labels: labels},
			Immutable:  new(true),
			Type:       olmv1.SecretTypeObjectData,
			Data:       b.data,
		}
	}
	for _, p := range phases {
		for _, object := range p.Objects {
			object.Ref.Name = names[place[object.Ref.Key]]
		}
	}
	return phases, secrets, nil
}

// encode is an object as it is kept.
func encode(u *unstructured.Unstructured) ([]byte, error) {
	text, err := json.Marshal(u.Object)
	if err != nil {
		return nil, fmt.Errorf("write %s as JSON: %w", identityOf(u), err)
	}
	if len(text) <= maxSecretData {
		return text, nil
	}
	if len(text) > maxObjectSize {
		return nil, fmt.Errorf("%s has %d bytes, but only objects of up to %d can be kept; make it smaller", identityOf(u), len(text), maxObjectSize)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress %s: %w", identityOf(u), err)
	}
	if packed.Len() > maxSecretData {
		return nil, fmt.Errorf("%s has %d bytes, and compressed %d, but a Secret holds only %d; make it smaller", identityOf(u), len(text), packed.Len(), maxSecretData)
	}
	return packed.Bytes(), nil
}

// keyOf is the key of content in the data of a Secret.
func keyOf(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
