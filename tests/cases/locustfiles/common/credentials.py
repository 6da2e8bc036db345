NAME = "ada"


def token_of(answer):
    return answer.json()["token"]
