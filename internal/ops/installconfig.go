package ops

import (
	"encoding/json"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// MaxConfig bounds the text of a configuration, in bytes; the API server takes no object that is larger.
const MaxConfig = 1 << 20

// ReadConfig reads the configuration of an operator, as YAML or JSON.
func ReadConfig(text []byte) (map[string]any, error) {
	if len(text) > MaxConfig {
		return nil, errors.New("it is larger than 1 MiB, which is more than the API server takes")
	}
	text, err := catalog.ToJSON(text)
	var config map[string]any
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; write an object, with the fields that the bundle takes", err)
	}
	return config, nil
}
