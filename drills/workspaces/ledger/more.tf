# Nothing more yet.
