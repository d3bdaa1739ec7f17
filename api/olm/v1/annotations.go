package v1

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SettingsPrefix begins the annotations of a ClusterExtension that change what is done for it.
const SettingsPrefix = "operators.fairlead.dev/"

// TypeAnnotationsSeen is the condition of a ClusterExtension that tells which of its annotations the other conditions take into account: they
// raise no generation, so observedGeneration cannot. Without such annotations it is not there.
const TypeAnnotationsSeen = SettingsPrefix + "AnnotationsSeen"

// NewAnnotationsSeen is that condition for some annotations; nil when there are none that it tells of.
func NewAnnotationsSeen(annotations map[string]string) *metav1.Condition {
	settings := maps.Clone(annotations)
	maps.DeleteFunc(settings, func(key, _ string) bool { return !strings.HasPrefix(key, SettingsPrefix) })
	if len(settings) == 0 {
		return nil
	}
	text, err := json.Marshal(settings) // in the order of keys
	if err != nil {
		panic("texts always encode: " + err.Error())
	}
	sum := sha256.Sum256(text)
	var names []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		names = append(names, strings.TrimPrefix(key, SettingsPrefix))
	}
	c := NewCondition(TypeAnnotationsSeen, metav1.ConditionTrue, ReasonSucceeded, "sha256:"+hex.EncodeToString(sum[:])+" of "+strings.Join(names, ", "))
	return &c
}

// SeesAnnotations tells whether the status of a ClusterExtension is about the annotations that it has now.
func SeesAnnotations(e *ClusterExtension) bool {
	want, is := NewAnnotationsSeen(e.Annotations), meta.FindStatusCondition(e.Status.Conditions, TypeAnnotationsSeen)
	if want == nil || is == nil {
		return want == nil && is == nil
	}
	return want.Message == is.Message
}
