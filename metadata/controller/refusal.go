package controller

import "github.com/twmb/franz-go/pkg/kerr"

// Refusal is a request that is not done, in Kafka's words.
type Refusal struct {
	Code    *kerr.Error
	Message string // empty: the client is told the code only
}

func (r *Refusal) Error() string {
	if r.Message == "" {
		return r.Code.Message
	}
	return r.Code.Message + ": " + r.Message
}

// Unwrap gives the Kafka error.
func (r *Refusal) Unwrap() error { return r.Code }

func refuse(code *kerr.Error, message string) error { return &Refusal{code, message} }
