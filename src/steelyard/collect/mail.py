"""One message by e-mail, bounded in time."""

import asyncio
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from steelyard.collect.campaign_news import Email
from steelyard.collect.outgoing import OutgoingError

__all__ = ["send_mail"]

# Of each step, and of all together.
_STEP_SECONDS = 10.0
_SECONDS = 40.0


async def send_mail(declared: Email, password: str | None, *, subject: str, text: str) -> None:
    """Hand a message to a mail server.

    Parameters
    ----------
    declared : Email
        Which server, from whom and to whom.
    password : str or None
        Of `declared.user`.
    subject, text : str
        What to say.

    Raises
    ------
    OutgoingError
        If the server did not take it, for one of the receivers even.
    """
    message = EmailMessage()
    message["From"] = declared.sender
    message["To"] = ", ".join(declared.to)
    message["Subject"] = " ".join(subject.split())
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = make_msgid(domain=declared.sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    try:
        async with asyncio.timeout(_SECONDS):
            await asyncio.to_thread(_hand_over, declared, password, message)
    except TimeoutError:
        raise OutgoingError("it did not answer in time") from None
    except (smtplib.SMTPException, OSError) as error:
        raise OutgoingError(_said(error)) from error


def _hand_over(declared: Email, password: str | None, message: EmailMessage) -> None:
    context = ssl.create_default_context()
    place = declared.host, declared.mail_port
    if declared.security == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(*place, timeout=_STEP_SECONDS, context=context)
    else:
        server = smtplib.SMTP(*place, timeout=_STEP_SECONDS)
    with server:
        if declared.security == "starttls":
            server.starttls(context=context)
        if declared.user is not None and password is not None:
            server.login(declared.user, password)
        refused = server.send_message(message)
    if refused:
        # those who were taken have it; it is sent to all again
        raise OutgoingError(f"it refused {len(refused)} of {len(declared.to)} receivers")


def _said(error: Exception) -> str:
    """Return what went wrong without what a server may repeat of the password."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"it did not accept user and password (code {error.smtp_code})"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "it refused all receivers"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"it answered with code {error.smtp_code}"
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return "it does not offer what is needed: set `email.security`, or take out `email.user`"
    if isinstance(error, ssl.SSLError):
        return "there is no secure connection to it"
    return f"there is no connection to it ({type(error).__name__})"
