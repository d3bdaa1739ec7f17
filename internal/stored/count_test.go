package stored

import (
	"context"
	"errors"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// answer is a reader of lists that fail.
type answer struct {
	client.Reader
	err error
}

func (a answer) List(context.Context, client.ObjectList, ...client.ListOption) error { return a.err }

// What cannot be counted is not nothing: whoever asks deletes what has nothing.
func TestCountOfWhatCannotBeRead(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Group: "example.com", Resource: "widgets"}, "")
	served := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true, Storage: true}
	established := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}
	for name, test := range map[string]struct {
		version    apiextensionsv1.CustomResourceDefinitionVersion
		conditions []apiextensionsv1.CustomResourceDefinitionCondition
		err        error
		wants      string // part of the error; empty is a count of none
	}{
		"no version is served":                    {apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Storage: true}, nil, nil, "serves no version"},
		"it was never established":                {served, nil, notFound, ""},
		"it is established, and yet is not there": {served, []apiextensionsv1.CustomResourceDefinitionCondition{established}, notFound, "count the widgets.example.com objects"},
		"the request fails":                       {served, nil, errors.New("connection refused"), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			crd := &definition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com",
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"}, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{test.version}},
				Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: test.conditions}}
			crd.Name = "widgets.example.com"
			n, err := Count(t.Context(), answer{err: test.err}, crd)
			switch {
			case n != 0:
				t.Errorf("counted %d objects", n)
			case test.wants == "" && err != nil, test.wants != "" && (err == nil || !strings.Contains(err.Error(), test.wants)):
				t.Errorf("the error is %v; want %q", err, test.wants)
			}
		})
	}
}
