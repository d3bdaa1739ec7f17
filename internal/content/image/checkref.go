package image

import (
	"errors"
	"fmt"

	"go.podman.io/image/v5/docker/reference"
)

// CheckReference tells what is wrong with an image reference, without asking anybody for the image.
func CheckReference(ref string) error {
	_, err := parseReference(ref)
	return err
}

// CheckPinned says in few words why a reference does not name an image by its digest.
func CheckPinned(ref string) error {
	named, err := parseReference(ref)
	var wrong *Error
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s; write it as host/repository@DIGEST", wrong.Reason)
	case err != nil:
		return err
	}
	if _, ok := named.(reference.Canonical); !ok {
		return fmt.Errorf("it has no digest; name the image as %s@DIGEST, as in sha256:0123abcd", reference.TrimNamed(named).Name())
	}
	return nil
}
