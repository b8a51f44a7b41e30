-- Reserved: this number belongs to a change that is made elsewhere.
SELECT 1;
