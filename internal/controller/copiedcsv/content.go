package copiedcsv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// markAnnotation, on a copy, tells which spec and which status it was written with, and which generation it had then: two hashes and a number
// with dots in between. So a copy is compared without being read, also after a restart.
const markAnnotation = "operators.fairlead.dev/copy"

// content is what the copies of a ClusterServiceVersion are, ready to be sent; but for the namespace they are all the same.
type content struct {
	// head is the object as JSON up to the end of the mark, but for the generation; spec and status are the JSON of these.
	head, spec, status []byte
	// about is the hash of the labels and annotations, mark the value of the annotation that tells of the rest, without the generation.
	about, mark string
	// fields are the fields of the status.
	fields string
}

// newContent works out what the copies of a ClusterServiceVersion are.
func newContent(csv *v1alpha1.ClusterServiceVersion) (*content, error) {
	// The target namespaces are left out of the metadata: they would tell tenants of each other.
	labels, annotations := map[string]string{}, map[string]string{}
	maps.Copy(labels, csv.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, v1alpha1.ComponentLabelPrefix) })
	labels[v1alpha1.CopiedFromLabel] = csv.Namespace
	maps.Copy(annotations, csv.Annotations)
	delete(annotations, v1alpha1.TargetNamespacesAnnotation)
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	delete(annotations, markAnnotation) // it comes last
	status := csv.Status.DeepCopy()
	status.Reason = v1alpha1.CSVReasonCopied
	status.ObservedGeneration = 0 // a copy asks for nothing, and has no verdict
	status.SetTypedConditions(nil, metav1.Time{})
	status.Message = fmt.Sprintf("The operator is running in %s but is managing this namespace", csv.Namespace)
	c := &content{about: hashOf(labels, annotations)}
	var err error
	if c.spec, err = json.Marshal(csv.Spec); err != nil {
		return nil, fmt.Errorf("copy the spec of ClusterServiceVersion %s/%s: %w", csv.Namespace, csv.Name, err)
	}
	if c.status, err = json.Marshal(status); err != nil {
		return nil, fmt.Errorf("copy the status of ClusterServiceVersion %s/%s: %w", csv.Namespace, csv.Name, err)
	}
	c.mark, c.fields = hash(c.spec)+"."+hash(c.status), fieldsOf(c.status, "")
	c.head, err = headOf(csv.Name, labels, annotations, c.mark)
	return c, err
}

// headOf is the object up to the end of its mark: the string, the annotations, the metadata and the object are left open.
func headOf(name string, labels, annotations map[string]string, mark string) ([]byte, error) {
	about, err := json.Marshal(annotations)
	if err != nil {
		return nil, fmt.Errorf("encode the annotations of the copies of ClusterServiceVersion %s: %w", name, err)
	}
	text, err := json.Marshal(map[string]any{"name": name, "labels": labels})
	if err != nil {
		return nil, fmt.Errorf("encode the labels of the copies of ClusterServiceVersion %s: %w", name, err)
	}
	text = bytes.TrimSuffix(text, []byte("}"))
	open := strings.TrimSuffix(string(about), "}")
	if len(annotations) > 0 {
		open += ","
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":%s,"annotations":%s%q:"%s.`,
		v1alpha1.GroupVersion, v1alpha1.ClusterServiceVersionKind, text, open, markAnnotation, mark), nil
}

// request is the request that makes or replaces a copy, whose part is then "spec", or its status, which is the part "status". The copy has the generation
// then; the resource version is empty for one that is to be made.
func (c *content) request(resourceVersion string, generation int64, part string) []byte {
	value := c.spec
	if part == "status" {
		value = c.status
	}
	out := make([]byte, 0, len(c.head)+len(value)+len(resourceVersion)+60)
	out = append(out, c.head...)
	out = strconv.AppendInt(out, generation, 10)
	out = append(out, `"}`...)
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

// readMark takes an annotation apart: the hashes, and the generation that the copy had.
func readMark(annotation string) (mark, generation string) {
	parts := strings.SplitN(annotation, ".", 3)
	if len(parts) < 3 {
		return annotation, ""
	}
	return parts[0] + "." + parts[1], parts[2]
}

// fieldsOf are the fields of a JSON object that are set, in order; the names in it begin with a prefix.
func fieldsOf(text []byte, prefix string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return ""
	}
	var names []string
	for name, value := range object {
		if name, ok := strings.CutPrefix(name, prefix); ok && string(value) != "null" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

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
