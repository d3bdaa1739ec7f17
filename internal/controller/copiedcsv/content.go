package copiedcsv

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// markAnnotation, on a copy, tells which spec and which status it was written with: two hashes with a dot in between. So a
// copy is compared without being read, also after a restart.
const markAnnotation = "operators.fairlead.dev/copy"

// content is what the copies of a ClusterServiceVersion are, ready to be sent; but for the namespace they are all the same.
type content struct {
	// head is the object as JSON up to the end of its annotations, spec and status are the JSON of these.
	head, spec, status []byte
	// about is the hash of the labels and annotations, mark the value of the annotation that tells of the rest.
	about, mark string
}

// newContent works out what the copies of a ClusterServiceVersion are.
func newContent(csv *v1alpha1.ClusterServiceVersion) (*content, error) {
	labels, annotations := copyMetadata(csv)
	status := csv.Status.DeepCopy()
	status.Reason = v1alpha1.CSVReasonCopied
	status.Message = fmt.Sprintf("The operator is running in %s but is managing this namespace", csv.Namespace)
	c := &content{about: hashOf(labels, annotations)}
	var err error
	if c.spec, err = json.Marshal(csv.Spec); err != nil {
		return nil, fmt.Errorf("copy the spec of ClusterServiceVersion %s/%s: %w", csv.Namespace, csv.Name, err)
	}
	if c.status, err = json.Marshal(status); err != nil {
		return nil, fmt.Errorf("copy the status of ClusterServiceVersion %s/%s: %w", csv.Namespace, csv.Name, err)
	}
	c.mark = hash(c.spec) + "." + hash(c.status)
	annotations[markAnnotation] = c.mark
	c.head, err = json.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(),
		"kind":       v1alpha1.ClusterServiceVersionKind,
		"metadata":   map[string]any{"name": csv.Name, "labels": labels, "annotations": annotations},
	})
	// What is left open is the metadata and the object.
	c.head = []byte(strings.TrimSuffix(string(c.head), "}}"))
	return c, err
}

// copyMetadata are the labels and annotations of the copies, without the mark. The target namespaces are left out: they
// would tell tenants of each other.
func copyMetadata(csv *v1alpha1.ClusterServiceVersion) (labels, annotations map[string]string) {
	labels = map[string]string{}
	maps.Copy(labels, csv.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, v1alpha1.ComponentLabelPrefix) })
	labels[v1alpha1.CopiedFromLabel] = csv.Namespace
	annotations = map[string]string{}
	maps.Copy(annotations, csv.Annotations)
	delete(annotations, v1alpha1.TargetNamespacesAnnotation)
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	delete(annotations, markAnnotation)
	return labels, annotations
}

// withSpec is the request that makes or replaces a copy; the resource version is empty for one that is to be made.
func (c *content) withSpec(resourceVersion string) []byte {
	return c.request(resourceVersion, "spec", c.spec)
}

// withStatus is the request that replaces the status of a copy.
func (c *content) withStatus(resourceVersion string) []byte {
	return c.request(resourceVersion, "status", c.status)
}

func (c *content) request(resourceVersion, part string, value []byte) []byte {
	out := make([]byte, 0, len(c.head)+len(value)+len(resourceVersion)+40)
	out = append(out, c.head...)
	if resourceVersion != "" {
		out = append(out, `,"resourceVersion":"`...)
		out = append(out, resourceVersion...) // digits
		out = append(out, '"')
	}
	out = append(out, `},"`...)
	out = append(out, part...)
	out = append(out, `":`...)
	out = append(out, value...)
	return append(out, '}')
}

// statusMark is the part of a mark that tells of the status.
func statusMark(mark string) string { _, status, _ := strings.Cut(mark, "."); return status }

// hashOf is a hash of labels and annotations.
func hashOf(labels, annotations map[string]string) string {
	text, err := json.Marshal([]map[string]string{labels, annotations}) // sorted by key
	if err != nil {
		return "" // strings can always be encoded
	}
	return hash(text)
}

func hash(text []byte) string {
	h := fnv.New128a()
	_, _ = h.Write(text) // never fails
	return fmt.Sprintf("%x", h.Sum(nil))
}
