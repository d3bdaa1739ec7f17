package apply

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestIsTooLarge(t *testing.T) {
	status := func(message string) error { return &apierrors.StatusError{ErrStatus: metav1.Status{Message: message}} }
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":                  {nil, false},
		"the API server":           {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), true},
		"etcd":                     {status("etcdserver: request is too large"), true},
		"the client of etcd":       {fmt.Errorf("create it: %w", status("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2250493 vs. 2097152)")), true},
		"words that are no answer": {errors.New("etcdserver: request is too large"), false},
		"another answer":           {status("etcdserver: leader changed"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := IsTooLarge(tc.err); got != tc.want {
				t.Errorf("%v: %t", tc.err, got)
			}
		})
	}
}
