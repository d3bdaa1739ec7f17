package packageserver

import (
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	apistorage "k8s.io/apiserver/pkg/storage"
)

// Fields that objects can be selected by.
const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
)

// fieldLabel refuses selectors for other fields.
func fieldLabel(label, value string) (string, string, error) {
	switch label {
	case fieldName, fieldNamespace:
		return label, value, nil
	}
	return "", "", fmt.Errorf("field label not supported: %s", label)
}

// selection is what a request asks for.
type selection struct {
	labels labels.Selector
	fields fields.Selector
}

func selectionOf(o *internalversion.ListOptions) selection {
	s := selection{labels: labels.Everything(), fields: fields.Everything()}
	if o != nil && o.LabelSelector != nil {
		s.labels = o.LabelSelector
	}
	if o != nil && o.FieldSelector != nil {
		s.fields = o.FieldSelector
	}
	return s
}

func (s selection) matches(o *offer) bool {
	if !s.fields.Matches(fields.Set{fieldName: o.doc.name, fieldNamespace: o.namespace}) {
		return false
	}
	return s.labels.Empty() || s.labels.Matches(labels.Set(o.meta("").Labels))
}

func (s selection) of(offers []offer) []offer {
	return slices.DeleteFunc(offers, func(o offer) bool { return !s.matches(&o) })
}

// checkRevision refuses what cannot be answered: there is only the present.
func checkRevision(o *internalversion.ListOptions, now uint64) error {
	if o == nil || o.ResourceVersion == "" || o.ResourceVersion == "0" {
		return nil
	}
	asked, err := parseRevision(o.ResourceVersion)
	switch {
	case err != nil:
		return err
	case asked > now:
		return apistorage.NewTooLargeResourceVersionError(asked, now, 1)
	case asked < now && o.ResourceVersionMatch == metav1.ResourceVersionMatchExact:
		return expired(asked, now)
	}
	return nil
}

func expired(asked, now uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("the resource version %d is too old, what was shown then is not kept; list again to get version %d", asked, now))
}

func parseRevision(text string) (uint64, error) {
	revision, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("the resource version %q is not one that this API has given: %v", text, err))
	}
	return revision, nil
}
