package apply

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

func TestFailuresAreBounded(t *testing.T) {
	var f Failures
	for i := range 8 {
		f = append(f, fmt.Errorf("no %d %s", i, strings.Repeat("é", failureLength)))
	}
	f[7] = io.ErrUnexpectedEOF
	text := f.Error()
	if len(text) > failuresShown*(failureLength+10)+20 || !strings.HasSuffix(text, "; and 3 more") || !strings.Contains(text, "no 4") {
		t.Errorf("%d bytes: %.40s ... %s", len(text), text, text[len(text)-20:])
	}
	if !errors.Is(f, io.ErrUnexpectedEOF) {
		t.Error("an error that is not shown cannot be found")
	}
}

func TestUnknownKinds(t *testing.T) {
	noMatch := &meta.NoKindMatchError{GroupKind: kinds["Deployment"].GroupKind()}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"no mapping":               {noMatch, true},
		"no such resource":         {apierrors.NewGenericServerResponse(404, "POST", kindResource, "", "", 0, true), true},
		"no such namespace":        {apierrors.NewNotFound(kindResource, "ns"), false},
		"anything else":            {io.ErrUnexpectedEOF, false},
		"forbidden without a name": {apierrors.NewForbidden(kindResource, "", io.EOF), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k := &task{Object: Object{Wanted: configMap("a", "1")}}
			k.fail("create", tc.err)
			var unknown *UnknownKindError
			if got := errors.As(k.result.Err, &unknown); got != tc.want || !errors.Is(k.result.Err, tc.err) {
				t.Errorf("%v", k.result.Err)
			}
		})
	}
}
