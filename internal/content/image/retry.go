package image

import (
	"context"
	"errors"
	"time"
)

// firstPause is how long to wait before something is tried again; each later
// pause is twice as long.
const firstPause = time.Second

// patiently tries something until it succeeds, fails for a reason that stays,
// or has been tried often enough.
func patiently[T any](ctx context.Context, retries int, try func() (T, error)) (T, error) {
	for pause := firstPause; ; pause *= 2 {
		result, err := try()
		var e *Error
		if err == nil || retries <= 0 || !errors.As(err, &e) || !e.Temporary() {
			return result, err
		}
		retries--
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return result, err
		}
	}
}
