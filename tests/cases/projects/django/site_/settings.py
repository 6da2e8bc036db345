SECRET_KEY = "for a test"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "site_.urls"
