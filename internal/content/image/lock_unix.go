//go:build unix

package image

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Lock waits until no one else holds the lock that the file at path stands
// for, in this process or in another. The kernel lets go of it when its holder
// dies. The caller must call unlock. The file stays, so that all who wait look
// at the same one.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	const soon, late = 5 * time.Millisecond, 100 * time.Millisecond
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := soon; ; wait = min(2*wait, late) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}
