"""The whole story: Ada works on a web shop's checkout and on the site with its documentation."""

from tools.sample.checkout import (
    a_fork_tries_another_way,
    an_old_client,
    an_overloaded_service,
    retry_payments,
)
from tools.sample.docs_site import a_background_agent, a_workflow
from tools.sample.scenes import Files


def story() -> Files:
    """Every file of the sample, by path below its folder."""
    origin = retry_payments()
    return (
        origin.files
        | a_fork_tries_another_way(origin)
        | an_overloaded_service()
        | an_old_client()
        | a_background_agent()
        | a_workflow()
    )
